// Package agenttestapi serves the tests of agents: scenarios, runs, batches and simulation sets. Templates, analyses, analytics
// and the tornado loop are not built yet: their operations answer 501.
package agenttestapi
