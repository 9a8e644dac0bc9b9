package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// optionNames lists the members of modelOptions that have an effect.
var optionNames = slices.Concat(ModelNames, temperatureNames, []string{
	optionSkip, optionQuiet, optionBlock, optionLevel, optionThreshold, optionLeastWait, optionLongestWait,
})

// temperatureNames lists the members of modelOptions that can contain a node's temperature. The first member that is present counts.
var temperatureNames = []string{"newTemperature", "temperature"}

// The other members of modelOptions that have an effect.
const (
	optionSkip        = "skipUserResponse"
	optionQuiet       = "disableSilenceRepeat"
	optionBlock       = "block_interruptions"
	optionLevel       = "interruptibility"
	optionThreshold   = "interruptionThreshold"
	optionLeastWait   = "min_endpointing_delay"
	optionLongestWait = "max_endpointing_delay"
)

// UnusedOption is a member of a node's modelOptions that has no effect.
type UnusedOption struct {
	Node string // id of the node; may be empty in an invalid document
	Name string // name of the member
	Why  string // reason, in human-readable words
}

// maxOption bounds the length of the names that are compared with known names, in bytes.
const maxOption = 100

// UnusedOptions returns the members of the nodes' modelOptions that have no effect, in the document's order: unknown members, with the most
// similar known name if there is one, and known members that another member of the node replaces. A member that is null counts as absent.
// Nodes that are not JSON are skipped.
func (d Document) UnusedOptions() (unused []UnusedOption) {
	for _, raw := range d.Nodes {
		node, err := tree.Parse(string(raw))
		if err != nil {
			continue
		}
		data, id := node.Get("data"), node.Get("id")
		options := data.Get("modelOptions")
		if options.Kind != tree.Object {
			continue
		}
		for _, m := range options.Members {
			if why := uselessOption(options, m.Name); why != "" && m.Value.Kind > tree.Null {
				unused = append(unused, UnusedOption{id.Text(), m.Name, why})
			}
		}
	}
	return unused
}

// uselessOption returns why a member of modelOptions has no effect, or an empty text if it has one.
func uselessOption(options tree.Value, name string) string {
	if !slices.Contains(optionNames, name) {
		if like := similarOption(name); like != "" {
			return fmt.Sprintf("there is no such member; did you mean %s?", like)
		}
		return "there is no such member"
	}
	isSet := func(other string) bool { return options.Get(other).Kind > tree.Null }
	for _, names := range [][]string{ModelNames, temperatureNames} {
		if name == names[1] && isSet(names[0]) {
			return names[0] + " replaces it"
		}
	}
	blocked := options.Get(optionBlock)
	level := options.Get(optionLevel)
	switch {
	case name != optionLevel && name != optionThreshold:
	case blocked.Kind == tree.Boolean && blocked.True():
		return optionBlock + " is set: no voice interrupts the node"
	case name == optionThreshold && level.Kind == tree.Number && level.Float() < 1:
		return optionLevel + " is 0: no voice interrupts the node"
	}
	return ""
}

// similarOption returns the known name that is most similar to a name, without regard to case and underscores, or an empty text.
func similarOption(name string) string {
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	if len(name) > maxOption {
		return ""
	}
	best, least := "", max(2, len(name)/3)+1
	for _, known := range optionNames {
		if d := callwright.EditDistance(plain(name), plain(known)); d < least {
			best, least = known, d
		}
	}
	return best
}
