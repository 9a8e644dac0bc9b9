-- Reserved: another change of this release has this number.
SELECT 1;
