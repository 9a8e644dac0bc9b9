package pathways

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// version holds the data of the page of a version, or of the draft, whose number is 0.
type version struct {
	editor

	Pathway  pathway.Pathway
	Version  pathway.Version
	Warnings []string // see pathway.Service.Warnings
	Number   string
	Name     string // name of the version to save
	Fork     string // name of the fork to save
	Edited   string // revision of the pathway at which the edited document was read
	Newer    int    // number of the newest version if it is newer than the shown draft and differs from it; otherwise 0
	Drawing  drawn
	Node     *nodeForm // conversation settings of the selected node; nil if none is selected
	Gate     string    // why the gate kept the version from production; may be empty
	Batch    string    // id of the batch of tests that kept the version from production; may be empty
	Calls    bool      // see Config
	Tests    bool      // see Config
	Begin    beginning // form that begins a chat

	values map[string]string // typed values of Node; nil means those of the document
}

// numberOf parses the number of a version in an address. It returns ErrNotFound for an invalid number.
func numberOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, callwright.ErrNotFound
	}
	return n, nil
}

func (p pages) version(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.versionPage(ctx, r, version{})
}

// versionPage shows a version. If v has faults, the page shows the submitted form again.
func (p pages) versionPage(ctx context.Context, r *page.Request, v version) (page.Answer, error) {
	number, err := numberOf(r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	if v.Version, v.Pathway, err = p.cfg.Pathways.Version(ctx, r.Org(), r.PathValue("id"), number); err != nil {
		return nil, err
	}
	v.Warnings = p.cfg.Pathways.Warnings(v.Version.Document)
	if v.Text == "" {
		if v.Text, err = textOf(v.Version.Document); err != nil {
			return nil, err
		}
	}
	if v.Edited == "" {
		v.Edited = strconv.FormatInt(v.Pathway.Revision, 10)
	}
	v.Number, v.Calls, v.Tests = strconv.Itoa(number), p.cfg.Calls, p.cfg.Tests
	if v.Drawing, err = draw(r, v.Version.Document, r.Below(page.Path("/pathways", v.Pathway.ID, "versions", v.Number))); err != nil {
		return nil, err
	}
	if v.Drawing.Node != "" {
		edited, err := parse(v.Text)
		if err != nil { // the page shows the error
			edited = v.Version.Document
		}
		v.Node = newNodeForm(r, edited, v.Drawing.Node, v.values, v.Faults)
	}
	title := fmt.Sprintf("Version %d of %s", number, v.Pathway.Name)
	if number == 0 {
		title = "Draft of " + v.Pathway.Name
		if v.Newer, err = p.newer(ctx, r, v.Version); err != nil {
			return nil, err
		}
	}
	view := &page.View{Page: "version", Title: title, Data: v}
	if v.Faults != nil {
		view.Status = http.StatusUnprocessableEntity
	}
	return view, nil
}

// newer returns the number of the newest version if it was saved after the draft and differs from it. Otherwise it returns 0.
func (p pages) newer(ctx context.Context, r *page.Request, draft pathway.Version) (int, error) {
	found, _, err := p.cfg.Pathways.Versions(ctx, r.Org(), draft.Pathway, callwright.Keyset{}, 1)
	if err != nil || len(found.Items) == 0 || found.Items[0].CreatedAt.Before(draft.CreatedAt) {
		return 0, err
	}
	newest, _, err := p.cfg.Pathways.Version(ctx, r.Org(), draft.Pathway, found.Items[0].Number)
	if errors.Is(err, callwright.ErrNotFound) { // discarded meanwhile
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	theirs, err := textOf(newest.Document)
	if err != nil {
		return 0, err
	}
	if ours, err := textOf(draft.Document); err != nil || ours == theirs {
		return 0, err
	}
	return newest.Number, nil
}

// NotDiscarded returns the reason why the version cannot be discarded, or an empty text if it can.
func (v version) NotDiscarded() string {
	if err := v.Pathway.CanDiscard(v.Version.Number); err != nil {
		return callwright.MessageOf(err)
	}
	return ""
}

// store stores the document as the draft or as the next version. If the draft was changed after the form was opened, the form must be sent
// a second time to replace it.
func (p pages) store(ctx context.Context, r *page.Request) (page.Answer, error) {
	id, shown := r.PathValue("id"), version{editor: editor{Text: r.PostForm.Get("document")}, Name: r.Field("name"), Edited: r.Field("revision")}
	revision, err := revisionOf(shown.Edited)
	if err != nil {
		return nil, err
	}
	d, err := parse(shown.Text)
	if err == nil {
		d, shown.values, err = withNode(r, d)
	}
	to := page.SeeOther{To: page.Path("/pathways", id), Notice: "The draft is saved."}
	switch {
	case err != nil:
	case r.Field("as") == "draft":
		_, err = p.cfg.Pathways.Update(ctx, r.Org(), id, pathway.Change{Nodes: &d.Nodes, Edges: &d.Edges, Revision: revision})
		if errors.Is(err, callwright.ErrConflict) {
			shown.Edited = ""
		}
	default:
		var saved pathway.Version
		saved, err = p.cfg.Pathways.StoreVersion(ctx, r.Org(), id, shown.Name, d)
		to.Notice = fmt.Sprintf("Version %d is saved.", saved.Number)
	}
	if err == nil {
		return to, nil
	}
	var mendable bool
	if shown.Faults, shown.Places, mendable = faultsOf(err, shown.Text, nil, slices.Concat([]string{"name", "document"}, agentform.Node.Fields())...); !mendable {
		return nil, err
	}
	return p.versionPage(ctx, r, shown)
}

// revisionOf parses the revision of a form. It returns nil for an empty text, which means any revision.
func revisionOf(text string) (*int64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // as in the domain, nil is any revision
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, callwright.Invalid("revision", "must be a whole number")
	}
	return &n, nil
}

// publish publishes a version to an environment, or has it published as soon as its tests have passed. It fails if the environment's
// version is no longer the version that the form showed.
func (p pages) publish(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.act(ctx, r, func(id string, number int) (string, error) {
		b := pathway.Publication{
			Number: number, Environment: pathway.Environment(r.Field("environment")), OnPass: r.Field("publish_on_pass") != "",
		}
		if over := r.Field("over"); over != "" {
			n, err := strconv.Atoi(over)
			if err != nil {
				return "", callwright.Invalid("over", "must be the number of a version")
			}
			b.Over = &n
		}
		done, err := p.cfg.Pathways.Publish(ctx, r.Org(), id, b)
		if err == nil && !done.Published {
			return fmt.Sprintf("Version %d goes to production when its tests have passed.", number), nil
		}
		return fmt.Sprintf("Version %d is published to %s.", number, b.Environment), err
	})
}

func (p pages) fork(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.act(ctx, r, func(id string, number int) (string, error) {
		made, err := p.cfg.Pathways.Fork(ctx, r.Org(), id, number, r.Field("fork"), nil)
		return fmt.Sprintf("Version %d is saved.", made.Number), err
	})
}

func (p pages) discard(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.act(ctx, r, func(id string, number int) (string, error) {
		return fmt.Sprintf("Version %d is discarded.", number), p.cfg.Pathways.Discard(ctx, r.Org(), id, number)
	})
}

// act calls the given function with the pathway's id and the version's number from the address, and redirects to the pathway with the
// returned notice. If the function returns an error that the user can correct, act shows the version again with the faults.
func (p pages) act(ctx context.Context, r *page.Request, do func(id string, number int) (string, error)) (page.Answer, error) {
	number, err := numberOf(r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	notice, err := do(r.PathValue("id"), number)
	if err == nil {
		return page.SeeOther{To: page.Path("/pathways", r.PathValue("id")), Notice: notice}, nil
	}
	shown := version{Fork: r.Field("fork")}
	var mendable bool
	if shown.Faults, shown.Places, mendable = faultsOf(err, "", map[string]string{"name": "fork"}, "fork"); !mendable {
		return nil, err
	}
	if len(shown.Places) > 0 { // an earlier release stored the version
		shown.Faults[""] = "The document of this version has errors: see the list below it."
	}
	if e, _ := errors.AsType[*callwright.Error](err); e.Code == callwright.CodePromotionGateFailed {
		shown.Faults, shown.Gate, shown.Batch = page.Faults{}, e.Message, e.Batch
	}
	return p.versionPage(ctx, r, shown)
}
