package pathways

import (
	"context"
	"net/http"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// creation holds the fields of the form that creates a pathway, as typed.
type creation struct {
	editor

	Name, Description string
}

func (p pages) form(context.Context, *page.Request) (page.Answer, error) {
	return &page.View{Page: "new", Title: "New pathway", Data: creation{editor: editor{Text: starter}}}, nil
}

func (p pages) create(ctx context.Context, r *page.Request) (page.Answer, error) {
	c := creation{editor{Text: r.PostForm.Get("document")}, r.Field("name"), r.Field("description")}
	d, err := parse(c.Text)
	var made pathway.Pathway
	if err == nil {
		made, err = p.cfg.Pathways.Create(ctx, r.Org(), pathway.Draft{Name: c.Name, Description: c.Description, Document: d})
	}
	if err == nil {
		return page.SeeOther{To: page.Path("/pathways", made.ID), Notice: "The pathway is created. Save its draft as a version to publish it."}, nil
	}
	var mendable bool
	if c.Faults, c.Places, mendable = faultsOf(err, c.Text, nil, "name", "description", "document"); !mendable {
		return nil, err
	}
	return &page.View{Page: "new", Title: "New pathway", Status: http.StatusUnprocessableEntity, Data: c}, nil
}
