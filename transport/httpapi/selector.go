package httpapi

import (
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/oas"
)

// selectorOf is the version that a request names; without one, what is in production when it is needed.
func selectorOf(version oas.PathwayVersionSelector, given bool) pathway.Selector {
	switch {
	case !given:
		return pathway.Selector{Environment: pathway.Production}
	case version.IsInt():
		return pathway.Selector{Number: version.Int}
	default:
		return pathway.Selector{Environment: pathway.Environment(version.PathwayEnvironment)}
	}
}

// selectorRecord is the version that an agent's pathway is to have; null without a pathway.
func selectorRecord(ref agents.PathwayRef) oas.OptNilPathwayVersionSelector {
	version := oas.OptNilPathwayVersionSelector{Set: true, Null: true}
	switch {
	case ref.ID == "":
	case ref.Version.Environment != "":
		version.SetTo(oas.NewPathwayEnvironmentPathwayVersionSelector(oas.PathwayEnvironment(ref.Version.Environment)))
	default:
		version.SetTo(oas.NewIntPathwayVersionSelector(ref.Version.Number))
	}
	return version
}
