package triage_test

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func (m *model) comment(r *rapid.T) {
	i, by := m.issue(r), m.actor(r)
	links := slices.Sorted(maps.Values(i.calls))
	var e triage.Entry
	if m.try(r, func() (err error) {
		e, err = m.house.Comment(m.t.Context(), "acme", by, i.id, triage.CommentDraft{Detail: "x", Links: links})
		return err
	}, merged(i)) {
		i.comments = append(i.comments, &modelComment{id: e.ID, author: by})
		i.entries++
	}
}

func (m *model) edit(r *rapid.T) { m.replace(r, false) }

func (m *model) remove(r *rapid.T) { m.replace(r, true) }

func (m *model) replace(r *rapid.T, remove bool) {
	i, by := m.issue(r), m.actor(r)
	c, ok := pick(r, "comment", i.comments)
	if !ok {
		return
	}
	if m.try(r, func() error {
		if remove {
			_, err := m.house.DeleteComment(m.t.Context(), "acme", by, i.id, c.id)
			return err
		}
		_, err := m.house.EditComment(m.t.Context(), "acme", by, i.id, c.id, "y")
		return err
	}, merged(i), refusal{c.deleted, callwright.CodeNotFound},
		refusal{by != c.author && !(remove && by.Kind == triage.ActorSystem), callwright.CodeForbidden}) {
		c.deleted = remove
		i.entries++
	}
}

func (m *model) attach(r *rapid.T) {
	i, by := m.issue(r), m.actor(r)
	call := rapid.SampledFrom([]string{"call-0", "call-1", "call-2", "call-x"}).Draw(r, "call")
	var link triage.Resource
	var added bool
	if m.try(r, func() (err error) {
		link, added, err = m.house.Attach(m.t.Context(), "acme", by, i.id, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: call})
		return err
	}, merged(i), refusal{call == "call-x", callwright.CodeNotFound}) {
		if there := i.calls[call]; added != (there == "") || !added && link.ID != there {
			r.Fatalf("attached %+v, %t", link, added)
		}
		if added {
			i.calls[call] = link.ID
			i.entries++
		}
	}
}

func (m *model) detach(r *rapid.T) {
	i := m.issue(r)
	call, ok := pick(r, "call", slices.Sorted(maps.Keys(i.calls)))
	if !ok {
		return
	}
	if m.try(r, func() error { return m.house.Detach(m.t.Context(), "acme", m.actor(r), i.id, i.calls[call]) }, merged(i),
		refusal{slices.Contains(slices.Collect(maps.Values(i.flags)), call), callwright.CodeInvalidState}) {
		delete(i.calls, call)
		i.entries++
	}
}

func (m *model) flag(r *rapid.T) {
	i, by := m.issue(r), m.actor(r)
	call := rapid.SampledFrom([]string{"call-0", "call-1", "call-2"}).Draw(r, "call")
	var f triage.Flag
	if m.try(r, func() (err error) {
		f, err = m.house.Flag(m.t.Context(), "acme", by, i.id, triage.FlagDraft{CallID: call, Type: "x"})
		return err
	}, merged(i), refusal{i.calls[call] == "", callwright.CodeCallNotAttached}) {
		i.flags[f.ID] = call
		i.entries++
	}
}

func (m *model) unflag(r *rapid.T) {
	i := m.issue(r)
	flag, ok := pick(r, "flag", slices.Sorted(maps.Keys(i.flags)))
	if !ok {
		return
	}
	if m.try(r, func() error { return m.house.Unflag(m.t.Context(), "acme", ada, i.id, flag) }, merged(i)) {
		delete(i.flags, flag)
		i.entries++
	}
}

// related returns the relation of a type between two issues, in either direction. ok is false if there is none.
func (m *model) related(a, b *modelIssue, kind triage.RelationType) (modelRelation, bool) {
	for _, have := range m.relations {
		if have.kind == kind && (have.from == a && have.to == b || have.from == b && have.to == a) {
			return have, true
		}
	}
	return modelRelation{}, false
}

func (m *model) relate(r *rapid.T) {
	from, to, kind := m.issue(r), m.issue(r), rapid.SampledFrom(relationTypes()).Draw(r, "type")
	have, there := m.related(from, to, kind)
	var rel triage.Relation
	var added bool
	if m.try(r, func() (err error) {
		rel, added, err = m.house.Relate(m.t.Context(), "acme", ada, from.id, to.id, kind)
		return err
	}, refusal{from == to, callwright.CodeBadRequest}, merged(from), merged(to),
		refusal{there && kind != triage.RelatedTo && have.from != from, callwright.CodeConflict}) {
		if added == there || there && rel.ID != have.id {
			r.Fatalf("related %+v, %t", rel, added)
		}
		if added {
			m.relations = append(m.relations, modelRelation{rel.ID, kind, from, to})
			from.entries++
			to.entries++
		}
	}
}

func (m *model) unrelate(r *rapid.T) {
	rel, ok := pick(r, "relation", m.relations)
	if !ok {
		return
	}
	side := rapid.SampledFrom([]*modelIssue{rel.from, rel.to}).Draw(r, "side")
	if m.try(r, func() error { return m.house.Unrelate(m.t.Context(), "acme", bob, side.id, rel.id) }, merged(rel.from), merged(rel.to)) {
		m.relations = slices.DeleteFunc(m.relations, func(have modelRelation) bool { return have.id == rel.id })
		rel.from.entries++
		rel.to.entries++
	}
}

func (m *model) alert(r *rapid.T) {
	i := m.issue(r)
	if m.try(r, func() error {
		_, err := m.house.Alert(m.t.Context(), "acme", triage.System(), i.id, triage.AlertTransition{Name: "x", To: "firing"})
		return err
	}, merged(i)) {
		i.entries++
	}
}

func (m *model) byID(id string) *modelIssue {
	n := slices.IndexFunc(m.issues, func(i *modelIssue) bool { return i.id == id })
	if n < 0 {
		return nil
	}
	return m.issues[n]
}

func (m *model) report(r *rapid.T) {
	call := rapid.SampledFrom([]string{"call-0", "call-1", "call-2"}).Draw(r, "call")
	var got triage.Issue
	m.try(r, func() (err error) {
		got, err = m.house.Report(m.t.Context(), "acme", reporter, triage.Report{Key: "busy", Title: "x", Resources: []triage.ResourceDraft{
			{Type: triage.ResourceCall, ResourceID: call},
		}})
		return err
	})
	known := m.byID(m.open)
	if known == nil || !known.status.Open() && known.calls[call] == "" {
		fresh := newModelIssue(got.ID)
		if m.byID(got.ID) != nil {
			r.Fatalf("the report came to %+v", got)
		}
		m.issues, m.open = append(m.issues, fresh), got.ID
		if known != nil {
			all, err := m.house.store().RelationsOf(m.t.Context(), "acme", got.ID)
			if err != nil || len(all) != 1 {
				r.Fatalf("the new issue has the relations %+v, %v", all, err)
			}
			m.relations = append(m.relations, modelRelation{all[0].ID, triage.RelatedTo, fresh, known})
			fresh.entries++
			known.entries++
		}
		known = fresh
	}
	if got.ID != known.id {
		r.Fatalf("the report came to %+v", got)
	}
	if known.calls[call] == "" {
		link, err := m.house.store().ResourceOf(m.t.Context(), "acme", known.id, triage.ResourceCall, call)
		if err != nil {
			r.Fatal(err)
		}
		known.calls[call] = link.ID
		known.entries++
	}
}

func (m *model) start(r *rapid.T) {
	i := m.issue(r)
	open := 0
	for _, sess := range i.sessions {
		if !sess.status.Ended() {
			open++
		}
	}
	var sess triage.Session
	if m.try(r, func() (err error) {
		sess, err = m.house.StartSession(m.t.Context(), "acme", ada, i.id, triage.SessionDraft{AgentName: "Scout"})
		return err
	}, merged(i), refusal{open >= triage.MaxOpenSessions, callwright.CodeInvalidState}) {
		i.sessions = append(i.sessions, &modelSession{sess.ID, triage.SessionPending, m.house.clock.Now()})
		i.entries++
	}
}

// move runs an operation on a session of any issue. It calls the function named "to" for the expected state of the session. The operation
// must be refused if the session's state does not allow this change.
func (m *model) move(
	r *rapid.T, to func(from triage.SessionStatus) triage.SessionStatus, do func(issue, session string) error,
) {
	i := m.issue(r)
	sess, ok := pick(r, "session", i.sessions)
	if !ok {
		return
	}
	next := to(sess.status)
	if m.try(r, func() error { return do(i.id, sess.id) }, refusal{!sess.status.May(next), callwright.CodeInvalidState}) {
		sess.status, sess.heard = next, m.house.clock.Now()
		i.entries++
	}
}

func (m *model) step(r *rapid.T) {
	status := rapid.SampledFrom(append(triage.SessionStatuses(), "")).Draw(r, "status")
	m.move(r, func(from triage.SessionStatus) triage.SessionStatus {
		if status == "" && from == triage.SessionPending {
			return triage.SessionActive
		}
		if status == "" {
			return from
		}
		return status
	}, func(issue, session string) error {
		_, err := m.house.Append(m.t.Context(), "acme", issue, session, triage.Step{Type: triage.TypeResponse, Status: status})
		return err
	})
}

func (m *model) answer(r *rapid.T) {
	m.move(r, func(from triage.SessionStatus) triage.SessionStatus {
		if from == triage.SessionAwaitingInput {
			return triage.SessionActive
		}
		return from
	}, func(issue, session string) error {
		_, err := m.house.Answer(m.t.Context(), "acme", bob, issue, session, "Yes.")
		return err
	})
}

func (m *model) cancel(r *rapid.T) {
	m.move(r, func(triage.SessionStatus) triage.SessionStatus { return triage.SessionCancelled }, func(issue, session string) error {
		_, err := m.house.Cancel(m.t.Context(), "acme", bob, issue, session, "")
		return err
	})
}

func (m *model) sweepNow(r *rapid.T) {
	m.house.clock.move(rapid.SampledFrom([]time.Duration{time.Minute, 20 * time.Minute, 8 * 24 * time.Hour}).Draw(r, "silence"))
	m.try(r, m.sweep)
	for _, i := range m.issues {
		for _, sess := range i.sessions {
			most := triage.SilentAfter
			if sess.status == triage.SessionAwaitingInput {
				most = triage.WaitsAtMost
			}
			if !sess.status.Ended() && m.house.clock.Now().Sub(sess.heard) > most {
				sess.status = triage.SessionError
				i.entries += 2
			}
		}
	}
}

func (m *model) status(r *rapid.T) {
	i, status := m.issue(r), rapid.SampledFrom(triage.Statuses()).Draw(r, "status")
	if m.try(r, func() error {
		_, err := m.house.Update(m.t.Context(), "acme", ada, i.id, triage.Change{Status: &status})
		return err
	}, merged(i)) && i.status != status {
		i.status = status
		i.entries++
	}
}

func (m *model) merge(r *rapid.T) {
	from, to := m.issue(r), m.issue(r)
	have, there := m.related(from, to, triage.DuplicateOf)
	if !m.try(r, func() error {
		_, err := m.house.Merge(m.t.Context(), "acme", ada, from.id, to.id)
		return err
	}, refusal{from == to, callwright.CodeBadRequest}, merged(from), merged(to), refusal{there && have.from != from, callwright.CodeConflict}) {
		return
	}
	from.into, from.status = to, triage.StatusClosed
	from.entries++
	to.entries++
	for _, sess := range from.sessions {
		if !sess.status.Ended() {
			sess.status = triage.SessionCancelled
			from.entries++
		}
	}
	for _, r := range m.house.kept(to.id).Resources {
		to.calls[r.ResourceID] = r.ID
	}
	for call := range from.calls {
		if to.calls[call] == "" {
			r.Fatalf("%s was not brought along", call)
		}
	}
	if m.open == from.id {
		m.open = to.id
	}
	if !there {
		all := m.house.kept(from.id).Relations
		n := slices.IndexFunc(all, func(r triage.Relation) bool { return r.Type == triage.DuplicateOf && r.To.ID == to.id })
		if n < 0 {
			r.Fatalf("it is no duplicate: %+v", all)
		}
		m.relations = append(m.relations, modelRelation{all[n].ID, triage.DuplicateOf, from, to})
	}
}

func (m *model) erase(r *rapid.T) {
	i := m.issue(r)
	if len(m.issues) == 1 || !m.try(r, func() error { return m.house.Delete(m.t.Context(), "acme", bob, i.id) }) {
		return
	}
	m.issues = slices.DeleteFunc(m.issues, func(have *modelIssue) bool { return have == i })
	for _, rel := range m.relations {
		if rel.from == i {
			rel.to.entries++
		}
		if rel.to == i {
			rel.from.entries++
		}
	}
	m.relations = slices.DeleteFunc(m.relations, func(rel modelRelation) bool { return rel.from == i || rel.to == i })
	for _, have := range m.issues {
		if have.into == i {
			have.into = nil
		}
	}
	if m.open == i.id {
		m.open = ""
	}
}
