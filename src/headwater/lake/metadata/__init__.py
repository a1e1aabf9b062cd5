"""What a table is at each moment: schemas, snapshots, manifests, commits, expiry."""
