package request

import (
	"cmp"
	"context"
)

// At returns a client that sends requests with c and adds their origin: it sets Request.Node, unless set, and adds place to Request.Place.
// If c is nil, At returns nil.
func At(c Client, node string, place int) Client {
	if c == nil {
		return nil
	}
	return placed{c, node, place}
}

// placed is a client that adds a conversation's node and place to each request.
type placed struct {
	Client

	node  string
	place int
}

// Do adds the origin to r and sends it.
func (p placed) Do(ctx context.Context, r Request) (Response, error) {
	r.Node, r.Place = cmp.Or(r.Node, p.node), r.Place+p.place
	return p.Client.Do(ctx, r)
}
