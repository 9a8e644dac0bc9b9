package mail

// NewRemoteSMTP is NewSMTP for a server that is taken to be on another machine.
func NewRemoteSMTP(c SMTPConfig) (*SMTP, error) {
	return newSMTP(c, func(string) bool { return false })
}
