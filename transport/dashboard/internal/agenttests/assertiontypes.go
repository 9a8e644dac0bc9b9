package agenttests

import "github.com/callwright/callwright/agenttest/assert"

// assertionType describes a type of assertion for people.
type assertionType struct {
	Type   assert.Type
	About  string
	Config string // an example
}

// assertionTypes describes every type, in the order of the contract.
var assertionTypes = []assertionType{
	{assert.LLMJudge, "A model judges the conversation by a criterion.", `{"prompt": "Did the agent repeat the agreed time?", "output_type": "boolean"}`},
	{assert.ServiceTone, "A model scores how naturally the agent spoke. The tone must be scored: see below.", `{"threshold": 0.7}`},
	{assert.VariableExtracted, "A variable was collected.", `{"variable": "day", "operator": "equals", "value": "Tuesday"}`},
	{assert.NodeReached, "A node was visited.", `{"node_id": "bye"}`},
	{assert.NodesVisited, "All or any of a set of nodes were visited.", `{"node_ids": ["ask", "bye"], "match": "all"}`},
	{assert.WebhookTriggered, "The agent sent a request.", `{"node_id": "book", "method": "POST", "min_count": 1, "body_match": {"/day": "Tuesday"}}`},
	{assert.RegexMatch, "A regular expression matches words or a variable.", `{"pattern": "\\bTuesday\\b", "flags": "i", "role": "assistant"}`},
	{assert.StringCheck, "Words or a variable compare to a text.", `{"operator": "contains", "value": "nine", "role": "assistant"}`},
	{assert.CustomLLM, "A model judges it with instructions of yours.", `{"system_prompt": "You rate how clearly prices are told.", "output_type": "score", "threshold": 0.7}`},
	{assert.TraversalMatch, "The visited nodes are like a reference path.", `{"reference_path": ["ask", "bye"], "mode": "similarity", "threshold": 0.8}`},
}
