package graph

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
)

// parsedNode is a node with references that cannot be resolved before the whole graph is read.
type parsedNode struct {
	*Node
	start   bool
	facts   []request.Fact
	targets []target // targets of the node's Branches
}

// parseNode reads a node of the document.
func parseNode(top fields) parsedNode {
	n := parsedNode{Node: &Node{ID: top.need("id", longestID)}}
	data := top.object("data")
	n.Name = data.text("name", longestName)
	tag := data.object("tag")
	n.Tag = tag.text("name", longestTag)
	n.Prompt = data.template("prompt", longestPrompt)
	n.Text = data.template("text", longestPrompt)
	n.Condition = data.template("condition", longestCondition)
	n.extraction(data)
	n.tools(data)
	n.options(data.object("modelOptions"))
	n.start = data.flag("isStart")
	if n.Global = data.flag("isGlobal"); n.Global {
		n.AutoReturn = data.flag("enableGlobalAutoReturn")
		n.Description = data.template("globalDescription", longestDescription)
		if n.Label = data.template("globalLabel", longestLabel); n.Label == nil {
			data.errorf("globalLabel", "is required for a global node: say when to go there")
		}
	}
	n.parseType(top, data)
	return n
}

// ModelNames lists the members of modelOptions that can name a node's model. The first member that is present counts.
var ModelNames = []string{"modelName", "modelType"}

// options reads modelOptions.
func (n parsedNode) options(options fields) {
	n.Model = options.text(options.first(ModelNames...), longestID)
	n.Temperature = options.number(options.first(temperatureNames...), 0, 2)
	n.Skip = options.flag(optionSkip)
	n.QuietSilence = options.flag(optionQuiet)
	n.BargeIn = bargeIn(options)
	n.LeastWait, n.LongestWait = wait(options, optionLeastWait), wait(options, optionLongestWait)
}

// maxThreshold is the maximum of modelOptions.interruptionThreshold, in milliseconds.
const maxThreshold = int(conversation.MaxThreshold / time.Millisecond)

// bargeIn reads block_interruptions, interruptibility and interruptionThreshold. It ignores values of a wrong type and clamps numbers,
// because earlier releases stored any values. Check reports them.
func bargeIn(options fields) conversation.BargeIn {
	var b conversation.BargeIn
	if v := options.of.Get(optionLevel); v.Kind == tree.Number {
		b.Level = conversation.InterruptibilityOf(int(min(max(v.Float(), 0), conversation.MaxInterruptibility)))
	}
	if v := options.of.Get(optionBlock); v.Kind == tree.Boolean && v.True() {
		b.Level = conversation.NeverInterrupted
	}
	if v := options.of.Get(optionThreshold); v.Kind == tree.Number {
		ms := min(max(v.Float(), 0.001), float64(maxThreshold)) // 0 would mean no threshold
		b.Threshold = time.Duration(ms * float64(time.Millisecond))
	}
	return b
}

// The range of modelOptions.min_endpointing_delay and max_endpointing_delay, in milliseconds.
const (
	minWait = int(endpoint.MinWait / time.Millisecond)
	maxWait = int(endpoint.MaxWait / time.Millisecond)
)

// wait reads a number of milliseconds from minWait to maxWait. It returns 0 for a value of a wrong type, and clamps numbers. Check reports
// both.
func wait(options fields, name string) time.Duration {
	v := options.of.Get(name)
	if v.Kind != tree.Number {
		return 0
	}
	return time.Duration(min(max(v.Float(), float64(minWait)), float64(maxWait)) * float64(time.Millisecond))
}

// extraction reads the variables to extract, and reports invalid variables and repeated names.
func (n parsedNode) extraction(data fields) {
	settings := data.object("extractVarSettings")
	n.Refresh = settings.flag("ignorePrevious")
	list := data.list("extractVars", maxItems)
	if len(list) == 0 {
		return
	}
	n.Extract = make([]llm.Field, 0, len(list))
	for i, v := range list {
		at := Entry(data.at("extractVars"), i)
		f, ok := extractField(data, at, v.Value)
		for _, other := range n.Extract {
			if ok && other.Name == f.Name {
				data.errs.addf(at, "must be unique: another entry has the variable %q", f.Name)
			}
		}
		n.Extract = append(n.Extract, f)
	}
}

// extractField reads a variable to extract, which is [name, type, description] or an object with these members. The default type is string.
// Further items and members are ignored. It reports errors. It returns false if the name is missing or empty, or if an item or member is
// not a string.
func extractField(data fields, at string, v tree.Value) (llm.Field, bool) {
	keys := [3]string{".name", ".type", ".description"}
	var parts [3]tree.Value
	switch v.Kind {
	case tree.Object:
		for i, key := range keys {
			parts[i] = v.Get(key[1:])
		}
	case tree.Array:
		keys = [3]string{"[0]", "[1]", "[2]"}
		for i, item := range v.Members[:min(len(v.Members), len(parts))] {
			parts[i] = item.Value
		}
	default:
		data.errs.addf(at, "must be [name, type, description], or an object with these members")
		return llm.Field{}, false
	}
	for i, part := range parts {
		if part.Kind > tree.Null && part.Kind != tree.String {
			data.errs.addf(at+keys[i], "must be a string, not %s", part.Kind)
			return llm.Field{}, false
		}
	}
	f := llm.Field{Name: parts[0].Text(), Type: llm.FieldType(parts[1].Text()), Description: parts[2].Text()}
	data.variable(at+keys[0], f.Name)
	switch f.Type {
	case llm.FieldString, llm.FieldInteger, llm.FieldNumber, llm.FieldBoolean:
	case "":
		f.Type = llm.FieldString
	default:
		data.errs.addf(at+keys[1], "must be string, integer, number or boolean")
	}
	return f, f.Name != ""
}

// tools reads the tools that the model may call, and reports the errors of all tools.
func (n parsedNode) tools(data fields) {
	list := data.list("tools", maxTools)
	if len(list) == 0 {
		return
	}
	raws := make([]json.RawMessage, len(list))
	for i, v := range list {
		raws[i] = json.RawMessage(v.Raw)
	}
	same := func(field string) string { return field }
	set, err := tool.NewSet(raws)
	if err == nil {
		n.Tools = set
		return
	}
	for i, raw := range raws { // NewSet reports only the first error
		if _, err := tool.Parse(raw); err != nil {
			fields{data.errs, path{within: Entry(data.at("tools"), i)}, list[i].Value}.adopt(err, same)
		}
	}
	data.adopt(err, same)
}

// parseType reads the type of a node, and the members that this type uses.
func (n *parsedNode) parseType(top, data fields) {
	n.Type = NodeType(top.need("type", longestType))
	switch n.Type {
	case NodeDefault:
		if n.Prompt == nil && n.Text == nil {
			data.errorf("prompt", "is required: a Default node needs a prompt or a text")
		}
	case NodeEnd, NodeWait, "":
	case NodeTransfer:
		n.TransferTo = transferNumber(data)
	case NodeKnowledge:
		n.Knowledge = data.text("kb", longestKnowledge)
		n.KnowledgeBase = data.text("kbTool", longestID)
		if strings.TrimSpace(n.Knowledge) == "" && n.KnowledgeBase == "" {
			data.errorf("kb", "is required: a Knowledge Base node needs a text in kb or a knowledge base in kbTool")
		}
	case NodeWebhook:
		w := parseWebhook(data)
		n.Request, n.Branches, n.facts, n.targets = w.call, w.branches, w.facts, w.targets
	case NodePress:
		n.Digits, n.ShowDigits = pressDigits(data), data.flag("showDigits")
	default:
		top.errorf("type", "must be Default, End Call, Transfer Call, Knowledge Base, Webhook, Wait for Response or Press Button, not %q", n.Type)
	}
}

// transferNumber reads the number of a transfer: an E.164 number, a SIP URI, or a text with variables, which is checked when the call is
// transferred. It refuses national numbers, because a pathway is shown and copied as written; the error lists the possible meanings of the
// digits. A nil result means the agent's transfer number.
func transferNumber(data fields) *template.Template {
	const name = "transferNumber"
	to := data.template(name, longestNumber)
	if to == nil || len(to.Names()) > 0 {
		return to
	}
	text := strings.TrimSpace(to.Text())
	number, err := callwright.ParsePhoneNumber(text)
	switch {
	case err == nil:
		text = number.String()
	case IsDialable(text):
	case text != "" && strings.Trim(text, "0123456789") == "": // the error of ParsePhoneNumber lists the possible meanings of the digits
		data.errorf(name, "%s", callwright.MessageOf(err))
	default:
		data.errorf(name, "must be an E.164 phone number such as +15551234567, or a SIP URI")
	}
	return template.Parse(text)
}

// pressDigits reads the digits to press. Digits with variables are checked when they are pressed.
func pressDigits(data fields) *template.Template {
	const name = "digits"
	text := data.template(name, longestDigits)
	switch {
	case text == nil:
		data.errorf(name, "is required")
	case len(text.Names()) == 0 && !IsDigits(text.Text()):
		data.errorf(name, "must have only 0-9, A-D, *, # and w, which pauses for half a second")
	}
	return text
}
