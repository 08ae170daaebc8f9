# Short names for daily tasks. Each runs one command.
.DEFAULT_GOAL := help
.PHONY: help demo web web-serve web-test gallery test release-check soak sanitize fuzz fmt clippy doc clean

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: ## shows the generated world; without a display, writes the picture drystone.png
	cargo run --release --bin drystone

web: ## builds the viewer as a web page, in web/dist
	@bash scripts/web.sh build

web-serve: ## serves the web page on localhost
	@bash scripts/web.sh serve

web-test: ## builds the web page and tests it in headless Chromium
	@bash scripts/web.sh test

gallery: ## redraws the pictures in docs/gallery, and with DRYSTONE_DATA those of real inputs
	@bash scripts/gallery.sh

test: ## checks format, lints and docs, and runs every test
	@bash scripts/test.sh

release-check: ## checks packages, pairs of features, compatibility and dependencies
	@bash scripts/release-check.sh

soak: ## runs all randomised tests from new seeds for ten minutes
	@bash scripts/soak.sh

sanitize: ## tests unsafe code with AddressSanitizer, ThreadSanitizer and valgrind
	@bash scripts/sanitize.sh

fuzz: ## runs every fuzz target for ten seconds from its seeds
	@bash scripts/fuzz.sh

fmt: ## formats the code
	cargo fmt --all

clippy: ## runs the lints of `make test`
	cargo clippy --workspace --all-targets -- -D warnings

doc: ## builds the documentation, in target/doc
	RUSTDOCFLAGS="$$RUSTDOCFLAGS -Dwarnings" cargo doc --workspace --no-deps

clean: ## removes all build outputs
	cargo clean
	rm -f drystone.png
