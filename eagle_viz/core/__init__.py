"""Ideas only: trees, landscapes, policies, readouts. Standard library and numpy."""
