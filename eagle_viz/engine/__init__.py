"""The real drafted model: target, head, and the weights they need."""
