package request

import (
	"cmp"
	"context"
)

// At returns a client that sends with c and adds the origin of requests: it sets Request.Node, unless set, and adds place to
// Request.Place. A nil client stays nil.
func At(c Client, node string, place int) Client {
	if c == nil {
		return nil
	}
	return placed{c, node, place}
}

// placed is a client at a place of a conversation.
type placed struct {
	Client

	node  string
	place int
}

// Do sends the request.
func (p placed) Do(ctx context.Context, r Request) (Response, error) {
	r.Node, r.Place = cmp.Or(r.Node, p.node), r.Place+p.place
	return p.Client.Do(ctx, r)
}
