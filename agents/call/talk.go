package call

import "context"

func (s *Service) talk(ctx context.Context, c Call, leg Leg) {}
