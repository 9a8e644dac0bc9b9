// Package graph checks the documents in which people draw pathways, compiles them to graphs, and compares them.
//
// A Document is a pathway as JSON: nodes and edges in the format of the /v1 contract. Compile reports all errors of a document together, or
// returns the Graph along which a conversation runs. Canonical and Diff ignore members that only editors use, such as the position of a
// node.
package graph
