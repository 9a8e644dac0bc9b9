package graph

import (
	"math"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// shape is the contract's definition of a member. It applies to all types of nodes.
type shape struct {
	name     string
	kind     tree.Kind // Absent accepts any kind
	least    int       // minimum of a number
	longest  int       // maximum of characters, items, members, or of a number; 0 means no limit for members and numbers
	whole    bool      // whether a number must be an integer
	required bool
	members  []shape // members of an object
	items    *shape  // definition of an array's items; nil accepts any items
}

func text(name string, longest int) shape {
	return shape{name: name, kind: tree.String, longest: longest}
}
func flag(name string) shape { return shape{name: name, kind: tree.Boolean} }
func list(name string, longest int) shape {
	return shape{name: name, kind: tree.Array, longest: longest}
}
func upTo(name string, most int, whole bool) shape {
	return shape{name: name, kind: tree.Number, longest: most, whole: whole}
}
func within(name string, least, most int) shape {
	return shape{name: name, kind: tree.Number, least: least, longest: most}
}
func free(name string) shape { return shape{name: name, kind: tree.Object, longest: maxMembers} }
func object(name string, members ...shape) shape {
	return shape{name: name, kind: tree.Object, members: members}
}

func (s shape) needed() shape {
	s.required = true
	return s
}

func (s shape) with(members ...shape) shape {
	s.members = members
	return s
}

func (s shape) of(items shape) shape {
	s.items = &items
	return s
}

// nodeShape and edgeShape define PathwayNode and PathwayEdge of the contract.
var (
	nodeShape = object("",
		text("id", longestID), text("type", longestType),
		object("position", shape{name: "x", kind: tree.Number}, shape{name: "y", kind: tree.Number}),
		object("data",
			text("name", longestName), flag("isStart"), flag("isGlobal"), text("globalLabel", longestLabel),
			text("globalDescription", longestDescription), flag("enableGlobalAutoReturn"), text("prompt", longestPrompt),
			text("text", longestPrompt), text("condition", longestCondition),
			object("tag", text("name", longestTag), text("color", longestColor)),
			free("modelOptions").with(
				flag(optionBlock), upTo(optionLevel, conversation.MaxInterruptibility, true), upTo(optionThreshold, maxThreshold, false),
				within(optionLeastWait, minWait, maxWait), within(optionLongestWait, minWait, maxWait)),
			list("extractVars", maxItems), free("extractVarSettings"), list("tools", maxTools),
			text("url", longestURL), text("method", longestMethod), text("body", longestBody),
			list("responseData", maxItems).of(object("",
				text("name", longestID).needed(), text("data", longestPath).needed(), text("context", longestContext))),
			list("responsePathways", maxItems), text("transferNumber", longestNumber), free("warmTransferFields"),
			text("digits", longestDigits), flag("showDigits"), text("kb", longestKnowledge), text("kbTool", longestID)),
		object("globalConfig", text("globalPrompt", longestPrompt)))
	edgeShape = object("",
		text("id", longestID).needed(), text("source", longestID).needed(), text("target", longestID).needed(),
		text("type", longestType), text("label", longestLabel), text("description", longestDescription),
		object("data",
			text("label", longestLabel), text("description", longestDescription), flag("alwaysPick"), flag("isHighlighted")))
)

// check checks an object and its members, recursively, against a shape. It ignores members that are not in the shape.
func (s shape) check(f fields) {
	for _, m := range s.members {
		v := f.of.Get(m.name)
		switch {
		case v.Kind == tree.Absent && m.required:
			f.errorf(m.name, "is required")
		case v.Kind == tree.Absent || m.kind == tree.Absent:
		case v.Kind != m.kind:
			f.errorf(m.name, "must be %s, not %s", m.kind, v.Kind)
		default:
			m.checkValue(fields{f.errs, f.path.at(m.name), v})
		}
	}
}

// checkValue checks a value, which already has the shape's kind, against the other limits of the shape.
func (s shape) checkValue(f fields) {
	switch s.kind {
	case tree.String:
		if callwright.Longer(f.of.Text(), s.longest) {
			f.errorf("", "must have at most %d characters", s.longest)
		}
	case tree.Number:
		switch n := f.of.Float(); {
		case math.IsInf(n, 0):
			f.errorf("", "must be within the range of a 64-bit floating-point number")
		case s.longest > 0 && (n < float64(s.least) || n > float64(s.longest)):
			f.errorf("", "must be from %d to %d", s.least, s.longest)
		case s.whole && n != math.Trunc(n):
			f.errorf("", "must be an integer")
		}
	case tree.Array:
		if len(f.of.Members) > s.longest {
			f.errorf("", "must have at most %d items", s.longest)
			return
		}
		for i, v := range f.of.Members {
			if s.items == nil {
				break
			}
			item := fields{f.errs, path{within: Entry(f.at(""), i)}, v.Value}
			if v.Kind != s.items.kind {
				item.errorf("", "must be %s, not %s", s.items.kind, v.Kind)
				continue
			}
			s.items.check(item)
		}
	case tree.Object:
		if s.longest > 0 && len(f.of.Members) > s.longest {
			f.errorf("", "must have at most %d members", s.longest)
		}
		s.check(f)
	default:
	}
}

// typed checks the members of a node or an edge against the contract, if c is strict.
func (c *compiler) typed(s shape, top fields) {
	if c.strict && top.of.Kind == tree.Object {
		s.check(top)
	}
}
