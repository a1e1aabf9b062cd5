"""Reviews of a change in a git repository: both sides out of git, analysed, compared and told."""
