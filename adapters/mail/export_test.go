package mail

// NewRemoteSMTP is NewSMTP, except that it treats every server as remote, even on the loopback interface.
func NewRemoteSMTP(c SMTPConfig) (*SMTP, error) {
	return newSMTP(c, func(string) bool { return false })
}
