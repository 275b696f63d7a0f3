/**
 * Objects that a table knows as long as callers hold them. Each holds its batch and the table has a WeakRef to the batch: a
 * WeakRef for each object would take as much time as the object (docs/decisions/0023).
 */
export class Batch<Member extends object> {
  readonly members: Member[] = [];
  readonly reference: WeakRef<Batch<Member>> = new WeakRef(this);

  /** Adds an object, which has to hold the batch. */
  add(member: Member): this {
    this.members.push(member);
    return this;
  }

  /** Removes an object: only its callers hold it from then on. */
  remove(member: Member): void {
    const { members } = this;
    const last = members.pop();
    if (last && last !== member) members[members.indexOf(member)] = last;
  }
}
