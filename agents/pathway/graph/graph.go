package graph

import (
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
)

// Graph is a compiled pathway. It is immutable, and all conversations share it. A template is nil if the document contains no such text.
type Graph struct {
	Hash    string // SHA-256 of the canonical document, in hexadecimal
	Start   *Node
	Globals []*Node            // nodes that can follow every node, in the document's order
	Prompt  *template.Template // instructions for all nodes
	Facts   []request.Fact     // meanings of the variables of webhook nodes
	Nodes   map[string]*Node   // nodes by id
	Waits   bool               // whether a node has a LeastWait or a LongestWait
}

// Node returns the node with the given id, or nil if there is none.
func (g *Graph) Node(id string) *Node { return g.Nodes[id] }

// NodeType names the type of a node, as the /v1 contract does.
type NodeType string

// The supported types of nodes. Compile refuses four further types of the contract (SMS, Custom Code, Transfer Pathway, Scheduling),
// because the runtime cannot run them.
const (
	NodeDefault   NodeType = "Default"
	NodeEnd       NodeType = "End Call"
	NodeTransfer  NodeType = "Transfer Call"
	NodeKnowledge NodeType = "Knowledge Base"
	NodeWebhook   NodeType = "Webhook"
	NodeWait      NodeType = "Wait for Response"
	NodePress     NodeType = "Press Button"
)

// Node is one point of a conversation, at which the agent speaks, acts or waits.
type Node struct {
	ID   string
	Name string
	Type NodeType
	Tag  string // label for conversations that visit the node

	Prompt    *template.Template // instructions by which the model finds the words
	Text      *template.Template // the words themselves, instead of Prompt
	Condition *template.Template // condition that must be met before the conversation leaves the node
	Extract   []llm.Field        // variables to extract from the caller's words at the node
	Refresh   bool               // whether known variables are extracted again (extractVarSettings.ignorePrevious)
	Tools     *tool.Set          // tools that the model may call at the node; may be nil

	Global      bool
	Label       *template.Template // condition to enter a global node
	Description *template.Template // details of Label
	AutoReturn  bool               // whether a global node returns to the previous node after its words

	Skip          bool                 // whether the node does not wait for the caller after its words (modelOptions.skipUserResponse)
	QuietSilence  bool                 // whether the node stays silent when the caller is silent (modelOptions.disableSilenceRepeat)
	BargeIn       conversation.BargeIn // voice that interrupts the node's words; the zero value means the agent's settings
	LeastWait     time.Duration        // minimum silence that ends the caller's turn at the node; 0 means the agent's setting
	LongestWait   time.Duration        // maximum silence that ends the caller's turn at the node; 0 means the agent's setting
	Model         string               // empty means the agent's model
	Temperature   *float64             // nil means the agent's temperature
	TransferTo    *template.Template   // for NodeTransfer; nil means the agent's transfer number
	Digits        *template.Template   // for NodePress: see IsDigits; w pauses for half a second
	ShowDigits    bool                 // for NodePress: transcripts show the digits, which are otherwise masked
	Knowledge     string               // for NodeKnowledge: text that contains the answers
	KnowledgeBase string               // for NodeKnowledge: knowledge base to query; empty means the text Knowledge
	Request       *request.Call        // for NodeWebhook
	Branches      []Branch             // for NodeWebhook: the first branch that holds is taken
	Edges         []*Edge              // in the document's order
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

// Edge leads from one node to another if its condition is met.
type Edge struct {
	ID          string
	To          *Node
	Label       *template.Template // short condition of the edge
	Description *template.Template // details of Label
	Always      bool               // whether the edge is taken without asking a model
}

// Branch leads from a webhook node to another node if the comparison of a variable with a value is true.
type Branch struct {
	Variable string
	Operator Operator
	Value    *template.Template
	To       *Node
}

// Operator names a comparison of a variable with a value.
type Operator string

// The operators of branches.
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
