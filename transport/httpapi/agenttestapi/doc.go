// Package agenttestapi serves the tests of agents: scenarios, templates, runs, batches, simulation sets and analytics. Analyses of
// failures and the tornado loop are not built yet: their operations answer 501.
package agenttestapi
