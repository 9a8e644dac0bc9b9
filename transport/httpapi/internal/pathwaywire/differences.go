package pathwaywire

import (
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// Differences translates the differences of two versions to the generated types of an area. The functions difference and member create
// values of these types.
func Differences[D, M any](
	list []graph.Difference, difference func(id, name wire.Nil[string], kind graph.DifferenceKind, members []M) D,
	member func(path string, before, after wire.Nil[string]) M,
) []D {
	answer := make([]D, len(list))
	for i, d := range list {
		members := make([]M, len(d.Members))
		for j, m := range d.Members {
			members[j] = member(m.Path, wire.NilText(m.Before), wire.NilText(m.After))
		}
		answer[i] = difference(wire.NilText(d.ID), wire.NilText(d.Name), d.Kind, members)
	}
	return answer
}
