"""Makes a draft head for a target: corpus, features, training. Seeded and resumable."""
