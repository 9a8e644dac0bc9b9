// Package triageapi serves the issues of package triage, their feeds and the sessions of agents.
package triageapi
