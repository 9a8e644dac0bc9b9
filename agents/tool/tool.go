// Package tool is what an agent's model may call while it talks: requests to other systems, described so that a model
// knows when to make them.
package tool

// Set is the tools of an agent or a node. A nil Set has none.
type Set struct{}
