"""Text to vectors: model profiles, chunks, the embedders, and affect read off a vector."""
