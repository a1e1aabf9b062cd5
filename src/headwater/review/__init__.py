"""What a change of a git repository does to lineage: both sides out of git, analysed, compared and told."""
