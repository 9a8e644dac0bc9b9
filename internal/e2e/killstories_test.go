package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// script is a sequence of writes, with the paths at which their result can be read. A story runs it.
type script struct {
	name  string
	list  string   // path that lists the story's objects; a page contains at most pageSize
	pages string   // paging parameter of list: an offset, "page" from 1, or empty for none
	views []string // further paths to read; a path with $id for each listed object
	steps []step
}

// step is a write of a script. In its texts, $name is the story's name, $number its phone number, $call a call, $pathway a pathway, and
// $other the issue with the title "other $name".
type step struct {
	op    string
	body  string
	ids   map[string]string // path parameters: "member=value" is the id of the object with this member
	keyed bool              // sent with an Idempotency-Key
	same  bool              // does not change the readable state
}

// story is a run of a script. Its state is what the API shows of its objects.
type story struct {
	*script
	name, number, call, pathway string

	done  int      // number of completed steps
	cut   bool     // the next step was sent, but not answered
	last  *request // request of the last completed step with a key
	first answer   // first answer to that request
	views map[string]any
}

// states maps each script's name to its states without a kill: the state after no step, after the first step, and so on.
type states map[string][]string

func (s *story) fill(text string) string {
	if strings.Contains(text, "$other") {
		text = strings.ReplaceAll(text, "$other", s.id("title=other $name"))
	}
	return strings.NewReplacer("$name", s.name, "$number", s.number, "$call", s.call, "$pathway", s.pathway).Replace(text)
}

// next returns the request of the next step.
func (s *story) next() request {
	step := s.steps[s.done]
	r := request{op: step.op, body: s.fill(step.body)}
	for _, segment := range operation(step.op).Segments {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			segment = url.PathEscape(s.id(step.ids[strings.TrimSuffix(name, "}")]))
		}
		r.target += "/" + segment
	}
	r.target = r.target[1:]
	if step.keyed {
		r.key = fmt.Sprint(s.name, " ", s.done)
	}
	return r
}

// id returns the value of a path parameter. For "member=value" it is the id of the matching object in the views, or "absent".
func (s *story) id(from string) string {
	name, value, ok := strings.Cut(s.fill(from), "=")
	if !ok {
		return name
	}
	for _, view := range sorted(s.views) {
		if id := idOf(s.views[view], name, value); id != "" {
			return id
		}
	}
	return "absent"
}

// idOf returns the id of the first object, at any depth of value, in which the member with the given name equals want. It returns "" if
// there is none.
func idOf(value any, name, want string) string {
	switch value := value.(type) {
	case map[string]any:
		if value[name] == want {
			for _, member := range []string{"id", "agent_id"} {
				if id, ok := value[member].(string); ok {
					return id
				}
			}
		}
		for _, member := range sorted(value) {
			if id := idOf(value[member], name, want); id != "" {
				return id
			}
		}
	case []any:
		for _, item := range value {
			if id := idOf(item, name, want); id != "" {
				return id
			}
		}
	}
	return ""
}

func sorted(o map[string]any) []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// look reads the state of the story. It returns false if the server was killed or refused the list of objects.
func (s *story) look(ctx context.Context, g *target) (state string, ok bool) {
	s.views = map[string]any{}
	items, ok := g.items(ctx, s.fill(s.list), s.pages)
	if !ok {
		return "", false
	}
	mine := []any{}
	for _, item := range items {
		if strings.Contains(text(item), s.fill(s.script.marker())) {
			mine = append(mine, item)
		}
	}
	s.views[""] = mine
	for _, view := range s.script.views {
		for _, path := range paths(s.fill(view), mine) {
			a, ok := g.read(ctx, path)
			if !ok {
				return "", false
			}
			var value any
			if err := json.Unmarshal([]byte(a.body), &value); err != nil {
				g.t.Errorf("%s is answered with %d %s", path, a.status, a.body)
			}
			s.views[path] = value
		}
	}
	var all strings.Builder
	for _, view := range sorted(s.views) {
		fmt.Fprintln(&all, text(s.views[view]))
	}
	state = strings.NewReplacer(s.name, "NAME", s.number, "NUMBER", s.call, "CALL").Replace(all.String())
	for pattern, name := range variable {
		state = pattern.ReplaceAllString(state, name)
	}
	return state, true
}

// marker returns a template of a text that each listed object of a story contains.
func (c *script) marker() string {
	if strings.Contains(c.list, "/sip/") {
		return "$number"
	}
	return "$name"
}

// paths returns the paths of a view: one for each item if the view contains $id, or else the view itself.
func paths(view string, items []any) (all []string) {
	if !strings.Contains(view, "$id") {
		return []string{view}
	}
	for _, item := range items {
		for _, member := range []string{"id", "agent_id"} {
			if id, ok := item.(map[string]any)[member].(string); ok {
				all = append(all, strings.ReplaceAll(view, "$id", id))
			}
		}
	}
	return all
}

// variable maps patterns of texts that differ between two stories of a script to their replacements.
var variable = map[*regexp.Regexp]string{
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`): "ID",
	regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`):                         "TIME",
	regexp.MustCompile(`"T-\d+"`):                                                      `"T-NUMBER"`,
	regexp.MustCompile(`"number":\d+`):                                                 `"number":0`,
	regexp.MustCompile(`"health_status":"\w+"`):                                        `"health_status":"ANY"`,
	regexp.MustCompile(`"status":"(?:healthy|unreachable|unchecked)"`):                 `"status":"ANY"`,
}

// text returns a value as JSON.
func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

const pageSize = 100

// items returns the items of all pages of a list. It returns false if the server was killed or refused the request.
func (g *target) items(ctx context.Context, path, pages string) (all []any, ok bool) {
	for {
		at := path
		switch pages {
		case "":
		case "page":
			at += fmt.Sprintf("&page=%d", len(all)/pageSize+1)
		default:
			at += fmt.Sprintf("&%s=%d", pages, len(all))
		}
		a, ok := g.read(ctx, at)
		if !ok {
			return nil, false
		}
		var value any
		if err := json.Unmarshal([]byte(a.body), &value); err != nil || !a.good() {
			g.t.Errorf("%s is answered with %d %s", at, a.status, a.body)
			return nil, false
		}
		page := listOf(value)
		all = append(all, page...)
		if pages == "" || len(page) < pageSize {
			return all, true
		}
	}
}

// listOf returns the list in an answer, which is the answer itself or in one of several members. It returns nil if there is none.
func listOf(value any) []any {
	switch value := value.(type) {
	case []any:
		return value
	case map[string]any:
		for _, member := range []string{"data", "items", "numbers", "agents", "calls"} {
			if inner, ok := value[member]; ok {
				return listOf(inner)
			}
		}
	}
	return nil
}

// tell continues the story to its last step. It returns false if the server was killed or a check failed.
func (s *story) tell(ctx context.Context, g *target, want states) bool {
	if !s.resume(ctx, g, want) {
		return false
	}
	for s.done < len(s.steps) {
		if needs := s.steps[s.done].ids; len(needs) > 0 {
			if !s.check(ctx, g, want) {
				return false
			}
		}
		r := s.next()
		s.cut = true
		a, ok := g.write(ctx, r)
		if !ok {
			return false
		}
		s.did(r, a)
	}
	return true
}

// did records that a step was acknowledged.
func (s *story) did(r request, a answer) {
	s.cut = false
	s.done++
	if r.key != "" {
		s.last, s.first = &r, a
	}
}

// resume finds the last step that took effect before the kill, and checks that no step is lost, doubled or partial. First it sends the
// unanswered request, if it has a key, and the last completed request with a key again. They must take effect once, and receive the same
// answer.
func (s *story) resume(ctx context.Context, g *target, want states) bool {
	if s.cut && s.steps[s.done].keyed {
		r := s.next()
		a, ok := g.write(ctx, r)
		if !ok {
			return false
		}
		s.did(r, a)
	}
	if s.last != nil {
		a, ok := g.write(ctx, *s.last)
		if !ok {
			return false
		}
		if a != s.first {
			g.t.Errorf("%s: a request with the same key is answered with %+v; the first answer was %+v", s.name, a, s.first)
		}
	}
	return s.check(ctx, g, want)
}

// check compares the state with the expected state after the acknowledged steps. If the next step was sent without an answer, the state
// after that step is valid, too.
func (s *story) check(ctx context.Context, g *target, want states) bool {
	got, ok := s.look(ctx, g)
	if !ok {
		return false
	}
	known := want[s.script.name]
	switch {
	case got == known[s.done]:
	case s.cut && got == known[s.done+1]:
		s.done++
	default:
		g.t.Errorf("%s: after %d of %d steps, the next one sent: %t, the API shows\n%s\nwant\n%s",
			s.name, s.done, len(s.steps), s.cut, got, known[s.done])
		return false
	}
	s.cut = false
	return true
}

// learn runs a story on a server that is not killed. It returns the states before the first step and after each step.
func (c *script) learn(ctx context.Context, g *target, s *story) (all []string) {
	look := func() {
		state, ok := s.look(ctx, g)
		if !ok {
			g.t.Fatalf("%s: no answer", s.name)
		}
		all = append(all, state)
	}
	look()
	for s.done < len(s.steps) {
		r := s.next()
		a, ok := g.write(ctx, r)
		if !ok || !a.good() {
			g.t.Fatalf("%s: step %d was not done", s.name, s.done)
		}
		look()
		if changed := all[s.done] != all[s.done+1]; changed == c.steps[s.done].same {
			g.t.Errorf("%s: that %s changes what can be read is %t", s.name, r.op, changed)
		}
		s.did(r, a)
	}
	return all
}
