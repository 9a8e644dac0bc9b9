package issues

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// Person is an API key that an issue can be assigned to.
type Person struct{ ID, Name string }

// people returns the keys that an issue can be assigned to. It returns nil if Config.People is nil: then any id is allowed.
func (p pages) people(ctx context.Context, r *page.Request) ([]Person, error) {
	if p.cfg.People == nil {
		return nil, nil
	}
	return p.cfg.People(ctx, r.Org())
}

// checkPeople returns CodeBadRequest if the assignee or the owner is not in people. An empty or unchanged assignee or owner is allowed. If
// Config.People is nil, any id is allowed.
func (p pages) checkPeople(ctx context.Context, r *page.Request, d triage.Draft, former triage.Issue) error {
	people, err := p.people(ctx, r)
	if err != nil || people == nil {
		return err
	}
	for _, f := range []struct{ name, id, former string }{
		{"assignee_id", d.AssigneeID, former.AssigneeID}, {"owner_id", d.OwnerID, former.OwnerID},
	} {
		known := slices.ContainsFunc(people, func(p Person) bool { return p.ID == f.id })
		if f.id != "" && f.id != f.former && !known {
			return callwright.Invalid(f.name, "must be the id of a key of this organization")
		}
	}
	return nil
}

// choice contains the data of a field that selects a person.
type choice struct {
	Field  string
	Value  string
	People []Person // if nil, the user types an id
	Empty  string   // label of the empty value
	Other  string   // name or id of a Value that is not in People; otherwise empty
	Faults page.Faults
}

// choose returns a field that assigns an issue. Its empty value is labeled "Nobody".
func choose(field, value string, people []Person, names map[string]string, faults page.Faults) choice {
	c := choice{Field: field, Value: value, People: people, Faults: faults, Empty: "Nobody"}
	if value != "" && !slices.ContainsFunc(people, func(p Person) bool { return p.ID == value }) {
		if c.Other = names[value]; c.Other == "" {
			c.Other = value
		}
	}
	return c
}

// find returns a field that filters issues by person. Its empty value is labeled "Anybody".
func find(field, value string, people []Person, names map[string]string, faults page.Faults) choice {
	c := choose(field, value, people, names, faults)
	c.Empty = "Anybody"
	return c
}
