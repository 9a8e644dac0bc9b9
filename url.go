package callwright

// URLs decides to which addresses requests may be sent; webhook.Sender implements it.
type URLs interface {
	// CheckURL refuses an address to which nothing may be sent; CodeBadRequest without a field.
	CheckURL(url string) error
}
