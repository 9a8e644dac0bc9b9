package drawing

import "github.com/callwright/callwright/agents/pathway/graph"

// Changes contains the differences between two documents, for the template "changes".
type Changes struct {
	Label     string // label of the table; unique in the page
	Rows      []Change
	Reordered bool
	More      bool // there are more differences than Rows contains
}

// Change is a row of the table: a difference in a node or an edge.
type Change struct {
	What, ID, Name string
	Kind           graph.DifferenceKind
	Member         graph.MemberDifference // if its path is empty, the whole node or edge differs
}

// Compare returns differences for a table with the given label. It returns at most the given number of rows.
func Compare(found graph.Changes, most int, label string) Changes {
	c := Changes{Label: label, Reordered: found.Reordered}
	c.add("Node", found.Nodes, most)
	c.add("Edge", found.Edges, most)
	return c
}

// add appends a row for each differing member, or one for a node or an edge that was added or removed, until the table has the given number
// of rows (most). If rows are left over, it sets More. The argument what is the kind of all entries: "Node" or "Edge".
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
