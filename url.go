package callwright

// URLs decides whether requests may be sent to a URL; webhook.Sender implements it.
type URLs interface {
	// CheckURL returns CodeBadRequest, without a field, for a forbidden URL.
	CheckURL(url string) error
}
