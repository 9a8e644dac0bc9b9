package pathway

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/template"
)

// common reads what nodes of all types can have.
func (c *compiler) common(n *Node, data fields) {
	n.Name = data.text("name", longestName)
	tag := data.object("tag")
	n.Tag = tag.text("name", longestTag)
	n.Prompt = data.template("prompt", longestPrompt)
	n.Text = data.template("text", longestPrompt)
	n.Condition = data.template("condition", longestCondition)
	c.extraction(n, data)
	c.tools(n, data)
	c.options(n, data.object("modelOptions"))
	if data.flag("isStart") {
		if c.graph.Start != nil {
			c.faultf(data.at("isStart"), "node %q is the start already", c.graph.Start.ID)
		} else {
			c.graph.Start = n
		}
	}
	if n.Global = data.flag("isGlobal"); !n.Global {
		return
	}
	c.graph.Globals = append(c.graph.Globals, n)
	n.AutoReturn = data.flag("enableGlobalAutoReturn")
	n.Description = data.template("globalDescription", longestDescription)
	if n.Label = data.template("globalLabel", longestLabel); n.Label == nil {
		c.faultf(data.at("globalLabel"), "is missing: say when to come to the global node")
	}
}

// options reads what is known here of the model's options.
func (c *compiler) options(n *Node, options fields) {
	n.Model = options.text(options.first("modelName", "modelType"), longestID)
	n.Temperature = options.number(options.first("newTemperature", "temperature"), 0, 2)
	n.Skip = options.flag("skipUserResponse")
	n.QuietSilence = options.flag("disableSilenceRepeat")
}

// longestTag and mostItems are as openapi.yaml has them.
const (
	longestTag = 100
	mostItems  = 100
	mostTools  = 50
)

// extraction reads the variables to find out.
func (c *compiler) extraction(n *Node, data fields) {
	settings := data.object("extractVarSettings")
	n.Refresh = settings.flag("ignorePrevious")
	list := data.list("extractVars", mostItems)
	if len(list) == 0 {
		return
	}
	n.Extract = make([]llm.Field, 0, len(list))
	for i, v := range list {
		at := func(member string) string { return entry(data.at("extractVars"), i) + member }
		f, ok := c.extract(at, v.Value)
		for _, other := range n.Extract {
			if ok && other.Name == f.Name {
				c.faultf(at(""), "the variable %q is looked for twice", f.Name)
			}
		}
		n.Extract = append(n.Extract, f)
	}
}

// extract reads a variable to find out: [name, type, description] or an object of these; without a type it is a string.
// More items or members are kept and have no effect.
func (c *compiler) extract(at func(member string) string, v tree.Value) (llm.Field, bool) {
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
		c.faultf(at(""), "must be [name, type, description], or an object of these")
		return llm.Field{}, false
	}
	for i, part := range parts {
		if part.Kind > tree.Null && part.Kind != tree.String {
			c.faultf(at(keys[i]), "must be a text, not %s", part.Kind)
			return llm.Field{}, false
		}
	}
	f := llm.Field{Name: parts[0].Text(), Type: llm.FieldType(parts[1].Text()), Description: parts[2].Text()}
	c.variable(at, keys[0], f.Name)
	switch f.Type {
	case llm.FieldString, llm.FieldInteger, llm.FieldNumber, llm.FieldBoolean:
	case "":
		f.Type = llm.FieldString
	default:
		c.faultf(at(keys[1]), "%q is no type: string, integer, number or boolean", f.Type)
	}
	return f, f.Name != ""
}

// typed reads what a node's type asks for.
func (c *compiler) typed(n *Node, top, data fields) {
	n.Type = NodeType(top.need("type", longestType))
	switch n.Type {
	case NodeDefault:
		if n.Prompt == nil && n.Text == nil {
			c.faultf(data.at("prompt"), "is missing: a Default node needs a prompt or a text")
		}
	case NodeEnd, NodeWait, "":
	case NodeTransfer:
		n.TransferTo = c.number(data)
	case NodeKnowledge:
		n.Knowledge = data.text("kb", longestKnowledge)
		n.KnowledgeBase = data.text("kbTool", longestID)
		if strings.TrimSpace(n.Knowledge) == "" && n.KnowledgeBase == "" {
			c.faultf(data.at("kb"), "is missing: a Knowledge Base node needs a text in kb, or a knowledge base in kbTool")
		}
	case NodeWebhook:
		c.webhook(n, data)
	case NodePress:
		n.Digits = c.digits(data)
	case "SMS", "Custom Code", "Transfer Pathway", "Scheduling":
		c.faultf(top.at("type"), "%s nodes need an engine that this server does not have", n.Type)
	default:
		c.faultf(top.at("type"), "%q is no type of a node", n.Type)
	}
}

// Longest texts of typed nodes, in characters, as openapi.yaml has them.
const (
	longestKnowledge = 65536
	longestNumber    = 64
	longestDigits    = 200
)

// number reads the number to transfer to: E.164, a SIP URI, or a text with variables, which is known only when the call
// is transferred. nil: the call's own.
func (c *compiler) number(data fields) *template.Template {
	const name = "transferNumber"
	to := data.template(name, longestNumber)
	if to == nil || len(to.Names()) > 0 {
		return to
	}
	text := strings.TrimSpace(to.Text())
	if !dialable(text) {
		c.faultf(data.at(name), "must be an E.164 phone number such as +15551234567, or a SIP URI")
	}
	if number, err := callwright.ParsePhoneNumber(text); err == nil {
		text = number.String()
	}
	return template.Parse(text)
}

// digits reads the digits to press.
func (c *compiler) digits(data fields) *template.Template {
	const name = "digits"
	digits := data.template(name, longestDigits)
	if digits == nil {
		c.faultf(data.at(name), "is missing")
		return nil
	}
	if len(digits.Names()) == 0 && strings.Trim(digits.Text(), keys) != "" {
		c.faultf(data.at(name), "must be of 0-9, A-D, *, # and w, a pause of half a second")
	}
	return digits
}
