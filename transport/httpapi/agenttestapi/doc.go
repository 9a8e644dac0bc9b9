// Package agenttestapi serves scenarios, runs, batches and analyses of agents' tests. None of it is built yet: its operations answer 501.
package agenttestapi
