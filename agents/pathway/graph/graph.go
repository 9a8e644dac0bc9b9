package graph

import (
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
)

// Graph is a compiled pathway. It is immutable, and all conversations share it. A template is nil if the document has no such text.
type Graph struct {
	Hash    string // SHA-256 of the canonical document, in hexadecimal
	Start   *Node
	Globals []*Node            // nodes to which every node can lead, in the document's order
	Prompt  *template.Template // instructions for every node
	Facts   []request.Fact     // meanings of the variables of webhook nodes
	Nodes   map[string]*Node   // by id
}

// Node returns the node with an id, or nil.
func (g *Graph) Node(id string) *Node { return g.Nodes[id] }

// NodeType is the type of a node.
type NodeType string

// The supported types. The contract names four more (SMS, Custom Code, Transfer Pathway, Scheduling), which Compile refuses because
// the runtime cannot run them.
const (
	NodeDefault   NodeType = "Default"
	NodeEnd       NodeType = "End Call"
	NodeTransfer  NodeType = "Transfer Call"
	NodeKnowledge NodeType = "Knowledge Base"
	NodeWebhook   NodeType = "Webhook"
	NodeWait      NodeType = "Wait for Response"
	NodePress     NodeType = "Press Button"
)

// Node is a place in a conversation.
type Node struct {
	ID   string
	Name string
	Type NodeType
	Tag  string // label of conversations that visit the node

	Prompt    *template.Template // instructions for the model, which finds the words
	Text      *template.Template // the words themselves; replaces Prompt
	Condition *template.Template // the conversation stays at the node until it is met
	Extract   []llm.Field        // variables to extract from the caller's words at the node
	Refresh   bool               // extract known variables again (extractVarSettings.ignorePrevious)
	Tools     *tool.Set          // tools that the model may call at the node; nil: none

	Global      bool
	Label       *template.Template // of a global node: condition to go there
	Description *template.Template // of a global node: more about Label
	AutoReturn  bool               // of a global node: return to the node before once its words are spoken

	Skip          bool               // do not wait for the caller after the words (modelOptions.skipUserResponse)
	QuietSilence  bool               // do not speak when the caller is silent (modelOptions.disableSilenceRepeat)
	Model         string             // empty: the agent's
	Temperature   *float64           // nil: the agent's
	TransferTo    *template.Template // of NodeTransfer; nil: the agent's number
	Digits        *template.Template // of NodePress: see IsDigits; w pauses for half a second
	ShowDigits    bool               // of NodePress: transcripts show the digits, which are masked otherwise
	Knowledge     string             // of NodeKnowledge: text to answer from
	KnowledgeBase string             // of NodeKnowledge: the knowledge base to query; empty: Knowledge
	Request       *request.Call      // of NodeWebhook
	Branches      []Branch           // of NodeWebhook: the first true one is taken
	Edges         []*Edge            // in the document's order
}

// Acts reports whether the node has an action in addition to its words.
func (n *Node) Acts() bool {
	switch n.Type {
	case NodeEnd, NodeTransfer, NodeWebhook, NodePress:
		return true
	default:
		return false
	}
}

// Edge is a way from one node to another.
type Edge struct {
	ID          string
	To          *Node
	Label       *template.Template // short condition of the edge
	Description *template.Template // more about Label
	Always      bool               // take the edge without asking a model
}

// Branch leads from a webhook node to another node if a variable compares to a value.
type Branch struct {
	Variable string
	Operator Operator
	Value    *template.Template
	To       *Node
}

// Operator compares a variable with a value.
type Operator string

// The operators.
const (
	OpEqual          Operator = "=="
	OpNotEqual       Operator = "!="
	OpLess           Operator = "<"
	OpLessOrEqual    Operator = "<="
	OpGreater        Operator = ">"
	OpGreaterOrEqual Operator = ">="
	OpContains       Operator = "contains"
	OpNotContains    Operator = "!contains"
)
