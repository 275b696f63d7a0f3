/** The pool as one member with one partition, for the judge of members. */
export function poolPlaceOf(key: string): { member: string; partition: number; epoch: number; key: string } {
  return { member: 'pool', partition: 0, epoch: 1, key };
}
