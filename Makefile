# Short names for what is done every day; each is one line you could type.
.DEFAULT_GOAL := help
.PHONY: help demo web web-serve web-test gallery test sanitize fmt clippy doc clean

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: ## the viewer on the generated world; without a display, the picture drystone.png
	cargo run --release --bin drystone

web: ## the viewer as a page for browsers, in web/dist
	@bash scripts/web.sh build

web-serve: ## serves that page to this machine
	@bash scripts/web.sh serve

web-test: ## drives that page in headless Chromium; ends with the counts
	@bash scripts/web.sh test

gallery: ## the pictures of docs/gallery anew, and with DRYSTONE_DATA those of real inputs
	@bash scripts/gallery.sh

test: ## format, lints, docs and every test; ends with the counts
	@bash scripts/test.sh

sanitize: ## the tests of crates/alloc under AddressSanitizer, ThreadSanitizer and valgrind
	@bash scripts/sanitize.sh

fmt: ## format the code
	cargo fmt --all

clippy: ## the lints, as strict as `make test`
	cargo clippy --workspace --all-targets -- -D warnings

doc: ## the documentation, in target/doc
	RUSTDOCFLAGS="$$RUSTDOCFLAGS -Dwarnings" cargo doc --workspace --no-deps

clean: ## remove everything that was built
	cargo clean
	rm -f drystone.png
