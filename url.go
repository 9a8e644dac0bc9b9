package callwright

// URLs checks whether requests may be sent to a URL. webhook.Sender implements it.
type URLs interface {
	// CheckURL returns CodeBadRequest, without a field, if requests to the URL are forbidden.
	CheckURL(url string) error
}
