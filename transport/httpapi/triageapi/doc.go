// Package triageapi serves the operations of issues (package triage), their feeds and the sessions of agents.
package triageapi
