package issues_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/issues"
	"github.com/callwright/callwright/triage"
)

// TestPeople checks that the forms offer the keys of the organization as assignees and owners. They must refuse any other id, unless it is
// already the issue's assignee or owner.
func TestPeople(t *testing.T) {
	t.Parallel()
	h := open(t, func(_ *triage.Config, c *issues.Config) {
		c.People = func(_ context.Context, of callwright.OrgID) ([]issues.Person, error) {
			return []issues.Person{{ID: "ada", Name: "Ada of " + string(of)}, {ID: "bob", Name: "Bob <b>"}}, nil
		}
	})
	i := h.issue(org, triage.Draft{Title: "A", AssigneeID: "gone", OwnerID: "bob"})
	at := "/issues/" + i.ID
	chosen := `<option value="gone" selected>gone</option>`
	has(t, h.get(http.StatusOK, at), `<option value="ada">Ada of acme</option>`, `<option value="bob">Bob &lt;b&gt;</option>`, chosen)
	has(t, h.get(http.StatusOK, at+"/edit"), chosen, `<option value="bob" selected>`)
	has(t, h.get(http.StatusOK, "/issues/new"), "Nobody", `<option value="ada">`)
	has(t, h.get(http.StatusOK, "/issues?assignee_id=bob"), "Anybody", `<option value="bob" selected>`)
	version := func() string {
		now, err := h.Get(t.Context(), org, i.ID)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(now.Version)
	}
	change := func(id string) []string {
		return []string{"status", "todo", "severity", "low", "assignee_id", id, "version", version()}
	}
	has(t, h.post(http.StatusUnprocessableEntity, at+"/change", change("robin")...), `id="fault-assignee_id"`, "must be the id of a key of this organization")
	h.post(http.StatusOK, at+"/change", change("gone")...)
	h.post(http.StatusOK, at+"/change", change("ada")...)
	h.post(http.StatusUnprocessableEntity, at+"/change", change("gone")...)
	h.post(http.StatusOK, at+"/change", change("")...)
	draft := []string{"title", "B", "status", "todo", "severity", "low", "category", ""}
	for _, field := range []string{"assignee_id", "owner_id"} {
		has(t, h.post(http.StatusUnprocessableEntity, "/issues", slices.Concat(draft, []string{field, "robin"})...), `id="fault-`+field+`"`)
		edit := slices.Concat(draft, []string{field, "robin", "version", version()})
		has(t, h.post(http.StatusUnprocessableEntity, at+"/edit", edit...), `id="fault-`+field+`"`)
	}
}
