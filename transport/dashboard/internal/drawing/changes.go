package drawing

import "github.com/callwright/callwright/agents/pathway/graph"

// Changes are the differences between two documents, for the template "changes".
type Changes struct {
	Label     string // of the table, which no other on the page has
	Rows      []Change
	Reordered bool
	More      bool // there are differences that are not in Rows
}

// Change is a row of a comparison.
type Change struct {
	What, ID, Name string
	Kind           graph.DifferenceKind
	Member         graph.MemberDifference // without a path: the whole node or edge
}

// Compare returns the first differences, at most so many rows, for a table with a label.
func Compare(found graph.Changes, most int, label string) Changes {
	c := Changes{Label: label, Reordered: found.Reordered}
	c.add("Node", found.Nodes, most)
	c.add("Edge", found.Edges, most)
	return c
}

// add adds the rows of differences.
func (c *Changes) add(what string, all []graph.Difference, most int) {
	for _, d := range all {
		members := d.Members
		if len(members) == 0 {
			members = []graph.MemberDifference{{}}
		}
		for _, m := range members {
			if len(c.Rows) == most {
				c.More = true
				return
			}
			c.Rows = append(c.Rows, Change{what, d.ID, d.Name, d.Kind, m})
		}
	}
}
