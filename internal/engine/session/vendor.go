package session

import (
	"net/http"
	"net/url"

	"github.com/callwright/callwright"
)

// VendorConfig configures the service of a vendor. The zero VendorConfig means the vendor's own address and model, without a key.
type VendorConfig struct {
	BaseURL string
	APIKey  callwright.Secret
	Model   string

	Client *http.Client
}

// Vendor is the service of a vendor.
type Vendor struct {
	Model string

	base   *url.URL
	client *http.Client
	key    func() string // a function, because fmt would print the key of an unexported string field
}

// NewVendor checks the configuration, in which base and model replace empty members. It returns CodeBadRequest for a base URL that is no URL of
// a server.
func NewVendor(c VendorConfig, base, model string) (*Vendor, error) {
	if c.BaseURL == "" {
		c.BaseURL = base
	}
	if c.Model == "" {
		c.Model = model
	}
	u, err := ParseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	key := c.APIKey.Reveal()
	return &Vendor{Model: c.Model, base: u, client: c.Client, key: func() string { return key }}, nil
}

// Endpoint returns the endpoint with a path and a query. Its header contains the key, if there is one, after a prefix.
func (v *Vendor) Endpoint(path string, query url.Values, header, prefix string) Endpoint {
	u := v.base.JoinPath(path)
	u.RawQuery = query.Encode()
	e := Endpoint{URL: u.String(), Header: http.Header{}, Client: v.client}
	if key := v.key(); key != "" {
		e.Header.Set(header, prefix+key)
	}
	return e
}
