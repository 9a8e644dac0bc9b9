// Package pathway leads a conversation along a graph: what is said at each node, when the conversation goes on and where
// to, what is found out on the way, and which other systems are asked.
//
// A Document is a graph as people draw it, Compile checks it and makes a Graph, and a Runtime walks it, turn by turn:
// calls, chats and tests share the same Step. A Service keeps pathways with their numbered versions and says which of
// them is in production.
package pathway
