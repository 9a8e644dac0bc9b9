package settings

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// sessions is the page of the sessions of the dashboard.
type sessions struct {
	menu

	Sessions []callwright.Session
	Names    map[string]string // of the keys, by their ids
	Own      string            // the session of whoever looks
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
	names, err := p.names(ctx, r.Org(), found.Items)
	if err != nil {
		return nil, err
	}
	return &page.View{Page: "sessions", Title: "Sessions", Data: sessions{p.menu(r), found.Items, names, r.SessionID, r.Next(found.Next)}}, nil
}

// names returns the names of the keys of sessions.
func (p pages) names(ctx context.Context, org callwright.OrgID, of []callwright.Session) (map[string]string, error) {
	names := map[string]string{}
	for _, s := range of {
		if _, known := names[s.KeyID]; known {
			continue
		}
		k, err := p.cfg.Access.Key(ctx, org, s.KeyID)
		if err != nil && !errors.Is(err, callwright.ErrNotFound) {
			return nil, err
		}
		names[s.KeyID] = k.Name
	}
	return names, nil
}

func (p pages) end(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Access.EndSession(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/settings/sessions", Notice: "The session has ended."}, nil
}
