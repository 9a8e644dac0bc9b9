package pathway

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// checkName refuses what no name is.
func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return callwright.Invalid("name", "is required")
	case utf8.RuneCountInString(name) > MaxName:
		return callwright.Invalid("name", "must not have more than %d characters", MaxName)
	}
	return nil
}

// checkWords refuses what no name and no description is.
func checkWords(name, description string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if utf8.RuneCountInString(description) > MaxDescription {
		return callwright.Invalid("description", "must not have more than %d characters", MaxDescription)
	}
	return nil
}

// checkDraft gives a document as it is kept; an empty one is fine.
func (s *Service) checkDraft(d graph.Document) (graph.Document, error) {
	if d.Empty() {
		return graph.Document{}, nil
	}
	kept, _, err := s.check(d)
	return kept, err
}

// check gives a document as it is kept, and its graph. The error names all of its faults, also those that the graph alone
// does not know: addresses to which nothing may be sent, and knowledge bases where there are none.
func (s *Service) check(d graph.Document) (graph.Document, *graph.Graph, error) {
	d = d.Normalize()
	g, err := graph.Compile(d)
	var faults callwright.FieldErrors
	if err != nil && !errors.As(err, &faults) {
		return graph.Document{}, nil, err
	}
	for i, raw := range d.Nodes {
		for _, fault := range s.checkOutside(raw).Within(graph.Entry("nodes", i) + ".data") {
			if !slices.ContainsFunc(faults, func(f *callwright.Error) bool { return f.Field == fault.Field }) {
				faults = append(faults, fault)
			}
		}
	}
	return d, g, faults.OrNil()
}

// checkOutside names what a node may not ask of others. What can't be read, Compile names.
func (s *Service) checkOutside(raw json.RawMessage) (faults callwright.FieldErrors) {
	node, err := tree.Parse(string(raw))
	if err != nil {
		return nil
	}
	address := func(field, url string) {
		if err := s.checkURL(url); err != nil {
			faults = append(faults, callwright.Invalid(field, "%s", callwright.MessageOf(err)))
		}
	}
	kind, data := node.Get("type"), node.Get("data")
	tools := data.Get("tools")
	switch url, base := data.Get("url"), data.Get("kbTool"); graph.NodeType(kind.Text()) {
	case graph.NodeWebhook:
		address("url", url.Text())
	case graph.NodeKnowledge:
		if base.Text() != "" && s.cfg.Runtime.Knowledge == nil {
			faults = append(faults, callwright.Invalid("kbTool", "there are no knowledge bases here: give the text itself as kb"))
		}
	default:
	}
	for i, t := range tools.Items() {
		var tool struct { // read as package tool reads it
			URL string `json:"url"`
		}
		if json.Unmarshal([]byte(t.Raw), &tool) == nil {
			address(graph.Entry("tools", i)+".url", tool.URL)
		}
	}
	return faults
}

// checkURL refuses an address to which no request may go.
func (s *Service) checkURL(url string) error {
	if s.cfg.Runtime.Requests == nil {
		return callwright.Invalid("", "no other systems can be asked here")
	}
	return s.cfg.Runtime.Requests.CheckURL(url)
}
