// Package agenttestapi serves the tests of agents: scenarios, templates, runs with the analysis of their failures, batches, simulation
// sets and analytics. The tornado loop is not built yet: its operations answer 501.
package agenttestapi
