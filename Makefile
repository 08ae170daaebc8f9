# Short names for what is done every day; each is one line you could type.
.DEFAULT_GOAL := help
.PHONY: help demo web web-serve web-test gallery test soak sanitize fuzz fmt clippy doc clean

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: ## the viewer on the generated world; without a display, the picture drystone.png
	cargo run --release --bin drystone

web: ## the viewer as a page for browsers, in web/dist
	@bash scripts/web.sh build

web-serve: ## serves that page to this machine
	@bash scripts/web.sh serve

web-test: ## builds that page and drives it in headless Chromium; ends with the counts
	@bash scripts/web.sh test

gallery: ## the pictures of docs/gallery anew, and with DRYSTONE_DATA those of real inputs
	@bash scripts/gallery.sh

test: ## format, lints, docs and every test; ends with the counts
	@bash scripts/test.sh

soak: ## every test with random numbers, from new seeds, for ten minutes
	@bash scripts/soak.sh

sanitize: ## tests of unsafe code under AddressSanitizer, ThreadSanitizer and valgrind
	@bash scripts/sanitize.sh

fuzz: ## every fuzz target, ten seconds each from its seeds
	@bash scripts/fuzz.sh

fmt: ## format the code
	cargo fmt --all

clippy: ## the lints, as strict as `make test`
	cargo clippy --workspace --all-targets -- -D warnings

doc: ## the documentation, in target/doc
	RUSTDOCFLAGS="$$RUSTDOCFLAGS -Dwarnings" cargo doc --workspace --no-deps

clean: ## remove everything that was built
	cargo clean
	rm -f drystone.png
