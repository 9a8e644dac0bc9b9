package settings

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// sessions holds the data of the page that lists the dashboard's sessions.
type sessions struct {
	menu

	Sessions []callwright.Session
	Own      string // id of the reader's own session
	Next     string
}

func (p pages) sessions(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Access.Sessions(ctx, r.Org(), after, pageSize)
	if err != nil {
		return nil, err
	}
	return &page.View{Page: "sessions", Title: "Sessions", Data: sessions{p.menu(r), found.Items, r.SessionID, r.Next(found.Next)}}, nil
}

func (p pages) end(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Access.DeleteSession(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/settings/sessions", Notice: "The session has ended."}, nil
}
