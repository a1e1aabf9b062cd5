# Headwater: `make demo` shows it, `make test` proves it, `make help` lists the rest.
