// Package bench measures and tries parts together that live in different rooms; each room's own benchmarks are beside its code.
package bench
