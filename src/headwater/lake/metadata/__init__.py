"""The metadata of a table at each moment: schemas, snapshots, manifests, commits, expiry."""
