/**
 * Objects that a table can find as long as callers hold them. Each object references the batch, and the table holds a
 * WeakRef to the batch: a WeakRef for each object would take as much time as the object (docs/decisions/0023).
 */
export class Batch<Member extends object> {
  readonly members: Member[] = [];
  readonly reference: WeakRef<Batch<Member>> = new WeakRef(this);

  /** Adds an object, which must reference the batch. */
  add(member: Member): this {
    this.members.push(member);
    return this;
  }

  /** Removes an object: from then on only its callers hold it. */
  remove(member: Member): void {
    const { members } = this;
    const last = members.pop();
    if (last && last !== member) members[members.indexOf(member)] = last;
  }
}
