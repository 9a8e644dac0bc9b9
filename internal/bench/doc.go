// Package bench measures and tests several packages together. The benchmarks of a single package are beside its code.
package bench
