package pathway

import (
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
)

// Graph is a pathway that was checked and made ready to be walked. It never changes, and all conversations share it.
// A template that is nil is one that the document does not have.
type Graph struct {
	Hash    string // SHA-256 of the document in its canonical form, in hexadecimal: the same graph has the same
	Start   *Node
	Globals []*Node // those that every node can lead to, in the document's order
	Prompt  *template.Template
	Facts   []request.Fact // about what the requests of its nodes find out
	Nodes   map[string]*Node
}

// NodeType says what happens at a node.
type NodeType string

// The types that can be walked. What else the contract names (SMS, Custom Code, Transfer Pathway, Scheduling) needs
// engines that nobody has here, and is refused.
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
	Tag  string // what a visit labels the conversation with

	Prompt    *template.Template // what to say and do; a model finds the words
	Text      *template.Template // the words themselves; it wins over Prompt
	Condition *template.Template // the conversation stays until it is met
	Extract   []llm.Field        // what to find out from what the caller says here
	Refresh   bool               // look also for what is known already (extractVarSettings.ignorePrevious)
	Tools     *tool.Set          // what the model may call here; nil: nothing

	Global      bool
	Label       *template.Template // of a global node: when to come here
	Description *template.Template // more about that
	AutoReturn  bool               // of a global node: go back where the conversation was, once its words are said

	Skip          bool     // don't wait for the caller after the words (modelOptions.skipUserResponse)
	QuietSilence  bool     // say nothing when the caller is silent (modelOptions.disableSilenceRepeat)
	Model         string   // instead of the agent's; empty: the agent's
	Temperature   *float64 // nil: the agent's
	TransferTo    *template.Template
	Digits        *template.Template // of NodePress: 0-9, A-D, *, #, and w for a pause of half a second
	Knowledge     string             // of NodeKnowledge: text to answer from
	KnowledgeBase string             // of NodeKnowledge: a knowledge base to ask; empty: Knowledge
	Request       *request.Call      // of NodeWebhook
	Branches      []Branch           // of NodeWebhook: where its answer leads, the first that holds
	Edges         []*Edge            // in the document's order
}

// Edge is a way from one node to another.
type Edge struct {
	ID          string
	To          *Node
	Label       *template.Template // when to take it, in a few words
	Description *template.Template
	Always      bool // take it without asking
}

// Branch is a way that an answer of a webhook opens.
type Branch struct {
	Variable string
	Operator Operator
	Value    *template.Template
	To       *Node
}

// Operator compares a variable with a value. Numbers are compared as numbers when both are, other values as text.
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
